select
    id as agent_id,
    type,
    name,
    status,
    schedule,
    next_check_at,
    {{ nested_text('sheet', 'id') }} as sheet_id,
    {{ nested_text('sheet', 'name') }} as sheet_name,
    additional_properties,
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'signal_agents') }}
where _sdc_deleted_at is null
