{% set columns = adapter.get_columns_in_relation(source('leadintent', 'signal_agents')) -%}
select
    id as agent_id,
    {{ text_field('type', columns) }},
    {{ text_field('name', columns) }},
    {{ text_field('status', columns) }},
    {{ text_field('schedule', columns) }},
    {{ time_field('next_check_at', columns) }},
    {{ text_field('sheet.id', columns) }},
    {{ text_field('sheet.name', columns) }},
    {{ json_field('additional_properties', columns) }},
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'signal_agents') }}
where _sdc_deleted_at is null
