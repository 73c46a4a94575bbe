{# When the views of the sales team end: now in UTC, or the variable `as_of`. #}
{% macro as_of() -%}
  {%- if var('as_of', none) -%}
  cast('{{ var('as_of') }}' as {{ type_timestamp() }})
  {%- else -%}
  {{ adapter.dispatch('now_in_utc', 'leadintent')() }}
  {%- endif -%}
{%- endmacro %}

{% macro default__now_in_utc() -%}
  {{ no_macros_for_this_adapter() }}
{%- endmacro %}

{% macro postgres__now_in_utc() -%}
  (now() at time zone 'UTC')
{%- endmacro %}

{% macro duckdb__now_in_utc() -%}
  (now() at time zone 'UTC')
{%- endmacro %}

{% macro snowflake__now_in_utc() -%}
  sysdate()
{%- endmacro %}

{% macro days_ago(days) -%}
  {{ dbt.dateadd('day', -days, as_of()) }}
{%- endmacro %}
