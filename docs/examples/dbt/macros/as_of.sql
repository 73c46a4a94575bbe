{# When the views of the sales team end: now in UTC, or the variable `as_of`. #}
{% macro as_of() -%}
  {%- if var('as_of', none) -%}
  cast('{{ var('as_of') }}' as {{ type_timestamp() }})
  {%- elif target.type == 'snowflake' -%}
  sysdate()
  {%- else -%}
  (now() at time zone 'UTC')
  {%- endif -%}
{%- endmacro %}

{% macro days_ago(days) -%}
  {{ dbt.dateadd('day', -days, as_of()) }}
{%- endmacro %}
