{# When each lead was loaded first, which no later run changes. Build it after each run.
   For leads that were loaded before the first build, the time is not known. #}
{{ config(materialized='incremental', unique_key='lead_id', full_refresh=false) }}
select
    id as lead_id,
    cast({{ '_sdc_extracted_at' if is_incremental() else 'null' }} as {{ type_timestamp() }}) as first_loaded_at
from {{ source('leadintent', 'leads') }}
{% if is_incremental() -%}
where id not in (select lead_id from {{ this }})
{%- endif %}
