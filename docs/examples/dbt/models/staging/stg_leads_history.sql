{# Every signal of every lead, if a stream map loads them; see the README. #}
{{ config(enabled=var('leads_history', false)) }}
{% set columns = adapter.get_columns_in_relation(source('leadintent', 'leads_history')) -%}
select
    signal_key,
    {{ lead_columns(columns) }}
from {{ source('leadintent', 'leads_history') }}
