-- What is in additional_properties is the sandbox's choice: put your fields here.
select
    record_key as observation_key,
    id as observation_id,
    observed_at,
    {{ text_field('account_id') }},
    {{ text_field('account.name') }},
    {{ text_field('account.domain') }},
    {{ text_field('signal.id') }},
    {{ text_field('signal.name') }},
    {{ text_field('status') }},
    {{ json_field('evidence') }},
    {{ number_field('confidence') }},
    {{ time_field('published_at') }},
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'observations') }}
