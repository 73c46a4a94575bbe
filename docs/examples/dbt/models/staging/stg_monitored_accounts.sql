-- What is in additional_properties is the sandbox's choice: put your fields here.
select
    record_key as account_key,
    id as account_id,
    {{ nested_text('additional_properties', 'name') }} as name,
    {{ nested_text('additional_properties', 'domain') }} as domain,
    {{ nested_text('additional_properties', 'status') }} as status,
    {{ nested_time('additional_properties', 'added_at') }} as added_at,
    {{ nested_time('additional_properties', 'latest_activity_at') }} as latest_activity_at,
    {{ nested_json('additional_properties', 'custom_signals') }} as custom_signals,
    {{ nested_text('additional_properties', 'owner.name') }} as owner_name,
    {{ nested_text('additional_properties', 'owner.team') }} as owner_team,
    {{ nested_number('additional_properties', 'checks') }} as checks,
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'monitored_accounts') }}
where _sdc_deleted_at is null
