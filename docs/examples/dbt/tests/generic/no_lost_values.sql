{# Counts the values of a table that are NULL in its model, because they are not of the
   type that the model gives them, and logs their fields. #}
{% test no_lost_values(model, table, number=[], time=[], boolean=[]) %}
{{ config(severity='warn', fail_calc='coalesce(sum(lost), 0)') }}
{%- set relation = source('leadintent', table) -%}
{%- set columns = adapter.get_columns_in_relation(relation) -%}
{%- set lost -%}
    {%- for kind, paths in [('number', number), ('time', time), ('boolean', boolean)] -%}
    {%- for path in paths %}
    select '{{ path }}' as field, count(*) as lost
    from {{ relation }}
    where {{ value_of('text', path, columns) }} is not null
        and {{ value_of(kind, path, columns) }} is null
    having count(*) > 0
    union all
    {%- endfor -%}
    {%- endfor %}
    select null, 0 where 1 = 0
{%- endset -%}
{%- if execute and flags.WHICH in ('build', 'test') -%}
  {%- for row in run_query(lost) -%}
    {%- do log(model.identifier ~ ': ' ~ row[1] ~ ' values of ' ~ row[0] ~ ' are not of its type', info=true) -%}
  {%- endfor -%}
{%- endif -%}
{{ lost }}
{% endtest %}
