-- The API does not say when a lead was found, so a lead is new by the time when it was
-- loaded first, or by its signal if that time is not known.
with leads as (
    select
        leads.*,
        coalesce(loads.first_loaded_at, leads.signal_observed_at) as new_at
    from {{ ref('stg_leads') }} as leads
    left join {{ ref('lead_first_loads') }} as loads
        on loads.lead_id = leads.lead_id
)

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
    new_at,
    score_value,
    score_fit
from leads
where new_at > {{ days_ago(1) }}
    and new_at <= {{ as_of() }}
