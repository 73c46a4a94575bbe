{# A field of a nested object, by its path with dots: as text, number, time or JSON. #}

{% macro nested_text(column, path) %}
  {{- adapter.dispatch('nested_text')(column, path) -}}
{% endmacro %}

{% macro postgres__nested_text(column, path) -%}
  {{ column }} #>> '{{ '{' ~ path.replace('.', ',') ~ '}' }}'
{%- endmacro %}

{% macro snowflake__nested_text(column, path) -%}
  {{ column }}:{{ path }}::varchar
{%- endmacro %}

{% macro nested_number(column, path) -%}
  cast({{ nested_text(column, path) }} as {{ 'float' if target.type == 'snowflake' else 'numeric' }})
{%- endmacro %}

{% macro nested_boolean(column, path) -%}
  cast({{ nested_text(column, path) }} as boolean)
{%- endmacro %}

{# In UTC, without a zone, as the loaders write times. #}
{% macro nested_time(column, path) %}
  {{- adapter.dispatch('nested_time')(column, path) -}}
{% endmacro %}

{% macro postgres__nested_time(column, path) -%}
  cast({{ nested_text(column, path) }} as timestamptz) at time zone 'UTC'
{%- endmacro %}

{% macro snowflake__nested_time(column, path) -%}
  convert_timezone('UTC', cast({{ nested_text(column, path) }} as timestamp_tz))::timestamp_ntz
{%- endmacro %}

{% macro nested_json(column, path) %}
  {{- adapter.dispatch('nested_json')(column, path) -}}
{% endmacro %}

{% macro postgres__nested_json(column, path) -%}
  {{ column }} #> '{{ '{' ~ path.replace('.', ',') ~ '}' }}'
{%- endmacro %}

{% macro snowflake__nested_json(column, path) -%}
  {{ column }}:{{ path }}
{%- endmacro %}
