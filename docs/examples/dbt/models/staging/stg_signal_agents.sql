{% set columns = adapter.get_columns_in_relation(source('leadintent', 'signal_agents')) -%}
select
    id as agent_id,
    type,
    name,
    status,
    schedule,
    next_check_at,
    {{ text_field('sheet.id', columns) }},
    {{ text_field('sheet.name', columns) }},
    additional_properties,
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'signal_agents') }}
where _sdc_deleted_at is null
