-- What is in additional_properties is the sandbox's choice: put your fields here.
{% set columns = adapter.get_columns_in_relation(source('leadintent', 'monitored_accounts')) -%}
select
    record_key as account_key,
    id as account_id,
    {{ text_field('name', columns) }},
    {{ text_field('domain', columns) }},
    {{ text_field('status', columns) }},
    {{ time_field('added_at', columns) }},
    {{ time_field('latest_activity_at', columns) }},
    {{ json_field('custom_signals', columns) }},
    {{ text_field('owner.name', columns) }},
    {{ text_field('owner.team', columns) }},
    {{ number_field('checks', columns) }},
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'monitored_accounts') }}
where _sdc_deleted_at is null
