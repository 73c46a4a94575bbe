-- What is in additional_properties is the sandbox's choice: put your fields here.
select
    record_key as lead_key,
    id as lead_id,
    window_end,
    {{ nested_text('additional_properties', 'full_name') }} as full_name,
    {{ nested_text('additional_properties', 'title') }} as title,
    {{ nested_text('additional_properties', 'country_code') }} as country_code,
    {{ nested_text('additional_properties', 'profile.platform') }} as profile_platform,
    {{ nested_text('additional_properties', 'profile.url') }} as profile_url,
    {{ nested_text('additional_properties', 'account_id') }} as account_id,
    {{ nested_time('additional_properties', 'latest_activity_at') }} as latest_activity_at,
    {{ nested_text('additional_properties', 'latest_activity.kind') }} as latest_activity_kind,
    {{ nested_text('additional_properties', 'latest_activity.text') }} as latest_activity_text,
    {{ nested_number('additional_properties', 'activities_count') }} as activities_count,
    {{ nested_text('additional_properties', 'email') }} as email,
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'monitored_leads') }}
