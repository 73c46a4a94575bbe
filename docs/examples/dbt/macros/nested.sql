{# A field of a nested object as a column, by its path with dots. `signal.name` of
   additional_properties becomes signal_name; `name` of another column, such as company,
   becomes company_name. #}

{% macro text_field(path, of='additional_properties') -%}
  {{ nested_text(of, path) }} as {{ field_name(path, of) }}
{%- endmacro %}

{% macro number_field(path, of='additional_properties') -%}
  {{ nested_number(of, path) }} as {{ field_name(path, of) }}
{%- endmacro %}

{% macro boolean_field(path, of='additional_properties') -%}
  cast({{ nested_text(of, path) }} as boolean) as {{ field_name(path, of) }}
{%- endmacro %}

{% macro time_field(path, of='additional_properties') -%}
  {{ nested_time(of, path) }} as {{ field_name(path, of) }}
{%- endmacro %}

{% macro json_field(path, of='additional_properties') -%}
  {{ nested_json(of, path) }} as {{ field_name(path, of) }}
{%- endmacro %}

{% macro field_name(path, of) -%}
  {{ (path if of == 'additional_properties' else of ~ '.' ~ path).replace('.', '_') }}
{%- endmacro %}

{# Its value, as the warehouse reads it. #}

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
