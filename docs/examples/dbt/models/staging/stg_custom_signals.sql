-- What is in additional_properties is the sandbox's choice: put your fields here.
select
    record_key as custom_signal_key,
    id as custom_signal_id,
    {{ nested_text('additional_properties', 'name') }} as name,
    {{ nested_text('additional_properties', 'description') }} as description,
    {{ nested_time('additional_properties', 'created_at') }} as created_at,
    {{ nested_boolean('additional_properties', 'active') }} as active,
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'custom_signals') }}
where _sdc_deleted_at is null
