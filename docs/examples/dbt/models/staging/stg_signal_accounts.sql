-- What is in additional_properties is the sandbox's choice: put your fields here.
select
    record_key as account_key,
    id as company_id,
    window_end,
    {{ nested_text('additional_properties', 'name') }} as name,
    {{ nested_text('additional_properties', 'domain') }} as domain,
    {{ nested_text('additional_properties', 'linkedin_url') }} as linkedin_url,
    {{ nested_text('additional_properties', 'country_code') }} as country_code,
    {{ nested_number('additional_properties', 'employee_count') }} as employee_count,
    {{ nested_text('additional_properties', 'sheet.id') }} as sheet_id,
    {{ nested_text('additional_properties', 'sheet.name') }} as sheet_name,
    {{ nested_text('additional_properties', 'signal.type') }} as signal_type,
    {{ nested_text('additional_properties', 'signal.name') }} as signal_name,
    {{ nested_text('additional_properties', 'signal.summary') }} as signal_summary,
    {{ nested_text('additional_properties', 'signal.reason') }} as signal_reason,
    {{ nested_time('additional_properties', 'signal.observed_at') }} as signal_observed_at,
    {{ nested_number('additional_properties', 'signals_count') }} as signals_count,
    {{ nested_time('additional_properties', 'found_at') }} as found_at,
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'signal_accounts') }}
