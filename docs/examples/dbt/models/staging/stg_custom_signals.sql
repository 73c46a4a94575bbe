-- What is in additional_properties is the sandbox's choice: put your fields here.
{% set columns = adapter.get_columns_in_relation(source('leadintent', 'custom_signals')) -%}
select
    record_key as custom_signal_key,
    id as custom_signal_id,
    {{ text_field('name', columns) }},
    {{ text_field('description', columns) }},
    {{ time_field('created_at', columns) }},
    {{ boolean_field('active', columns) }},
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'custom_signals') }}
where _sdc_deleted_at is null
