select
    id as agent_id,
    type,
    name,
    status,
    schedule,
    next_check_at,
    {{ text_field('id', of='sheet') }},
    {{ text_field('name', of='sheet') }},
    additional_properties,
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'signal_agents') }}
where _sdc_deleted_at is null
