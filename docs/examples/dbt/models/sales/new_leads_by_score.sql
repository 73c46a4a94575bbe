-- The API does not say when a lead was found, so a lead is new by the time of its signal.
select
    row_number() over (order by score_value desc nulls last, lead_id) as position,
    lead_id,
    full_name,
    title,
    company_name,
    company_domain,
    sheet_name,
    signal_name,
    signal_reason,
    signal_observed_at,
    score_value,
    score_fit
from {{ ref('stg_leads') }}
where signal_observed_at > {{ days_ago(1) }}
    and signal_observed_at <= {{ as_of() }}
