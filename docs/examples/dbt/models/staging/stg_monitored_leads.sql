-- What is in additional_properties is the sandbox's choice: put your fields here.
select
    record_key as lead_key,
    id as lead_id,
    window_end,
    {{ text_field('full_name') }},
    {{ text_field('title') }},
    {{ text_field('country_code') }},
    {{ text_field('profile.platform') }},
    {{ text_field('profile.url') }},
    {{ text_field('account_id') }},
    {{ time_field('latest_activity_at') }},
    {{ text_field('latest_activity.kind') }},
    {{ text_field('latest_activity.text') }},
    {{ number_field('activities_count') }},
    {{ text_field('email') }},
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'monitored_leads') }}
