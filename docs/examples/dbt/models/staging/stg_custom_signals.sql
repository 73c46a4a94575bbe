-- What is in additional_properties is the sandbox's choice: put your fields here.
select
    record_key as custom_signal_key,
    id as custom_signal_id,
    {{ text_field('name') }},
    {{ text_field('description') }},
    {{ time_field('created_at') }},
    {{ boolean_field('active') }},
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'custom_signals') }}
where _sdc_deleted_at is null
