-- What is in additional_properties is the sandbox's choice: put your fields here.
{% set columns = adapter.get_columns_in_relation(source('leadintent', 'observations')) -%}
select
    record_key as observation_key,
    id as observation_id,
    {{ time_field('observed_at', columns) }},
    {{ text_field('account_id', columns) }},
    {{ text_field('account.name', columns) }},
    {{ text_field('account.domain', columns) }},
    {{ text_field('signal.id', columns) }},
    {{ text_field('signal.name', columns) }},
    {{ text_field('status', columns) }},
    {{ json_field('evidence', columns) }},
    {{ number_field('confidence', columns) }},
    {{ time_field('published_at', columns) }},
    _sdc_extracted_at as extracted_at
from {{ source('leadintent', 'observations') }}
