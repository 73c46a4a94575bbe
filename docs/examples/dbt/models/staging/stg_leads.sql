{% set columns = adapter.get_columns_in_relation(source('leadintent', 'leads')) -%}
select {{ lead_columns(columns) }}
from {{ source('leadintent', 'leads') }}
