-- What is in additional_properties is the sandbox's choice: put your fields here.
select
    record_key as observation_key,
    id as observation_id,
    observed_at,
    {{ nested_text('additional_properties', 'account_id') }} as account_id,
    {{ nested_text('additional_properties', 'account.name') }} as account_name,
    {{ nested_text('additional_properties', 'account.domain') }} as account_domain,
    {{ nested_text('additional_properties', 'signal.id') }} as signal_id,
    {{ nested_text('additional_properties', 'signal.name') }} as signal_name,
    {{ nested_text('additional_properties', 'status') }} as status,
    {{ nested_json('additional_properties', 'evidence') }} as evidence,
    {{ nested_number('additional_properties', 'confidence') }} as confidence,
    {{ nested_time('additional_properties', 'published_at') }} as published_at,
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'observations') }}
