-- What is in additional_properties is the sandbox's choice: put your fields here.
{% set columns = adapter.get_columns_in_relation(source('leadintent', 'monitored_leads')) -%}
select
    record_key as lead_key,
    id as lead_id,
    window_end,
    {{ text_field('full_name', columns) }},
    {{ text_field('title', columns) }},
    {{ text_field('country_code', columns) }},
    {{ text_field('profile.platform', columns) }},
    {{ text_field('profile.url', columns) }},
    {{ text_field('account_id', columns) }},
    {{ time_field('latest_activity_at', columns) }},
    {{ text_field('latest_activity.kind', columns) }},
    {{ text_field('latest_activity.text', columns) }},
    {{ number_field('activities_count', columns) }},
    {{ text_field('email', columns) }},
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'monitored_leads') }}
