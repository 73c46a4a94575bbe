with observations as (
    select
        account_id,
        case when observed_at > {{ days_ago(7) }} then 1 else 0 end as is_recent
    from {{ ref('stg_observations') }}
    where observed_at > {{ days_ago(14) }}
        and observed_at <= {{ as_of() }}
),

counted as (
    select
        account_id,
        sum(is_recent) as signals_in_7_days,
        sum(1 - is_recent) as signals_in_7_days_before
    from observations
    group by account_id
)

select
    counted.account_id,
    accounts.name,
    accounts.domain,
    counted.signals_in_7_days,
    counted.signals_in_7_days_before
from counted
left join {{ ref('stg_monitored_accounts') }} as accounts
    on accounts.account_id = counted.account_id
where counted.signals_in_7_days > counted.signals_in_7_days_before
