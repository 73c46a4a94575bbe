-- What is in additional_properties is the sandbox's choice: put your fields here.
{% set columns = adapter.get_columns_in_relation(source('leadintent', 'signal_accounts')) -%}
select
    record_key as account_key,
    id as company_id,
    window_end,
    {{ text_field('name', columns) }},
    {{ text_field('domain', columns) }},
    {{ text_field('linkedin_url', columns) }},
    {{ text_field('country_code', columns) }},
    {{ number_field('employee_count', columns) }},
    {{ text_field('sheet.id', columns) }},
    {{ text_field('sheet.name', columns) }},
    {{ text_field('signal.type', columns) }},
    {{ text_field('signal.name', columns) }},
    {{ text_field('signal.summary', columns) }},
    {{ text_field('signal.reason', columns) }},
    {{ time_field('signal.observed_at', columns) }},
    {{ number_field('signals_count', columns) }},
    {{ time_field('found_at', columns) }},
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'signal_accounts') }}
