-- What is in additional_properties is the sandbox's choice: put your fields here.
select
    record_key as account_key,
    id as company_id,
    window_end,
    {{ text_field('name') }},
    {{ text_field('domain') }},
    {{ text_field('linkedin_url') }},
    {{ text_field('country_code') }},
    {{ number_field('employee_count') }},
    {{ text_field('sheet.id') }},
    {{ text_field('sheet.name') }},
    {{ text_field('signal.type') }},
    {{ text_field('signal.name') }},
    {{ text_field('signal.summary') }},
    {{ text_field('signal.reason') }},
    {{ time_field('signal.observed_at') }},
    {{ number_field('signals_count') }},
    {{ time_field('found_at') }},
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'signal_accounts') }}
