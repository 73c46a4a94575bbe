{# Compares each table with what the newest run of its stream has written. It fails if
   rows are missing, and warns if there are too many, or if that is not known. It logs
   what to do. See docs/missing-rows.md. #}
{{ config(
    enabled=var('load_receipts'),
    fail_calc="coalesce(max(case when result = 'missing' then 2 else 1 end), 0)",
    warn_if='> 0',
    error_if='> 1'
) }}
{%- set loads = source('leadintent', 'loads') -%}
{%- set times = {
    'leads': ('latest_signal', 'signal_observed_at'),
    'observations': ('observed_at', 'observed_at'),
    'signal_agents': ('', 'null'),
    'signal_accounts': ('', 'null'),
    'monitored_accounts': ('', 'null'),
    'custom_signals': ('', 'null'),
    'monitored_leads': ('', 'null')
} -%}
{%- set compared -%}
with written as (
    select
        stream,
        time_range,
        run_began_at as record_time,
        run_began_at as written_at
    from {{ loads }}
    where 1 = 0
    {%- for table, (time_range, column) in times.items() %}
    {%- set relation = source('leadintent', table) %}
    {%- if load_relation(relation) %}
    union all
    select '{{ table }}', '{{ time_range }}', {{ column }}, _sdc_extracted_at
    from {{ relation }}
    {%- endif %}
    {%- endfor %}
),

newest as (
    select
        stream,
        max(run_began_at) as run_began_at
    from {{ loads }}
    group by stream
),

compared as (
    select
        loads.stream,
        loads.time_range,
        loads.checked_from,
        loads.checked_to,
        loads.checked_records,
        count(case
            when written_at >= loads.run_began_at and written_at <= loads.ended_at then 1
        end) as arrived,
        count(case
            when written_at < loads.run_began_at and written.time_range = loads.time_range then 1
        end) as not_returned,
        count(case when written_at > loads.ended_at then 1 end) as written_later
    from {{ loads }} as loads
    inner join newest
        on newest.stream = loads.stream and newest.run_began_at = loads.run_began_at
    left join written
        on written.stream = loads.stream
        and (
            written.time_range <> loads.time_range
            or (written.record_time >= loads.checked_from and written.record_time < loads.checked_to)
            or written.written_at > loads.ended_at
        )
    group by 1, 2, 3, 4, 5
),

judged as (
    select
        compared.*,
        case
            when checked_records is null then 'not known'
            when arrived + written_later < checked_records then 'missing'
            when arrived < checked_records then 'not known'
            when arrived > checked_records or not_returned > 0 then 'too many'
            else 'complete'
        end as result
    from compared
)

select
    stream,
    time_range,
    result,
    checked_records - arrived as missing_rows,
    arrived - checked_records + not_returned as further_rows,
    cast(min(checked_from) over (partition by stream) as {{ type_string() }}) as read_from,
    cast(max(checked_to) over (partition by stream) as {{ type_string() }}) as read_to
from judged
where result <> 'complete'
order by 1, 2
{%- endset -%}
{%- if execute and flags.WHICH in ('build', 'test') -%}
  {%- set commands = [] -%}
  {%- for row in run_query(compared) -%}
    {%- set place = row[0] ~ ', ' ~ row[1] -%}
    {%- if row[2] == 'missing' -%}
      {%- do log(place ~ ": " ~ row[3] ~ " rows that the last run wrote are missing", info=true) -%}
      {%- set command = "forget --stream " ~ row[0] ~ " --from '" ~ row[5] ~ "' --to '" ~ row[6] ~ "'" -%}
      {%- if row[5] and command not in commands -%}
        {%- do commands.append(command) -%}
      {%- endif -%}
    {%- elif row[2] == 'too many' -%}
      {%- do log(
        place ~ ": " ~ row[4] ~ " rows more than the last run wrote, such as records "
        ~ "that were deleted in the API", info=true
      ) -%}
    {%- else -%}
      {%- do log(
        place ~ ": not known, as the last run has not read everything, or wrote more "
        ~ "than 130,000 rows, or as another run has begun since", info=true
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for command in commands -%}
    {%- do log(
      "Load missing rows again with a state that is changed by: tap-leadintent-state "
      ~ command, info=true
    ) -%}
  {%- endfor -%}
{%- endif -%}
{{ compared }}
