-- What is in additional_properties is the sandbox's choice: put your fields here.
select
    record_key as account_key,
    id as account_id,
    {{ text_field('name') }},
    {{ text_field('domain') }},
    {{ text_field('status') }},
    {{ time_field('added_at') }},
    {{ time_field('latest_activity_at') }},
    {{ json_field('custom_signals') }},
    {{ text_field('owner.name') }},
    {{ text_field('owner.team') }},
    {{ number_field('checks') }},
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'monitored_accounts') }}
where _sdc_deleted_at is null
