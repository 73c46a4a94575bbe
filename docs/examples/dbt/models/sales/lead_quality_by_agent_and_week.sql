-- Several agents can fill one sheet. A lead of such a sheet counts for each of them.
select
    agents.agent_id,
    agents.name as agent_name,
    date_trunc('week', leads.signal_observed_at) as week,
    count(*) as leads,
    sum(case when leads.qualification_status = 'qualified' then 1 else 0 end) as qualified_leads,
    sum(case when leads.score_fit = 'high' then 1 else 0 end) as leads_of_high_fit,
    cast(round(avg(leads.score_value)) as integer) as average_score
from {{ ref('stg_leads') }} as leads
inner join {{ ref('stg_signal_agents') }} as agents
    on agents.sheet_id = leads.sheet_id
where leads.signal_observed_at is not null
group by 1, 2, 3
