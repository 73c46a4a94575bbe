{# A field of the record as a column of the view, by its path with dots: `signal.name`
   becomes signal_name. It is in additional_properties, or in its own column if the table
   has one; `columns` are the table's. additional_properties comes first, as a column that
   was taken back goes stale. #}

{% macro text_field(path, columns) -%}
  {{ field(text_in, path, columns) }}
{%- endmacro %}

{% macro number_field(path, columns) -%}
  {{ field(number_in, path, columns) }}
{%- endmacro %}

{% macro boolean_field(path, columns) -%}
  {{ field(boolean_in, path, columns) }}
{%- endmacro %}

{% macro time_field(path, columns) -%}
  {{ field(time_in, path, columns) }}
{%- endmacro %}

{% macro json_field(path, columns) -%}
  {{ field(json_in, path, columns) }}
{%- endmacro %}

{% macro field(read, path, columns) -%}
  {%- set name, dot, inner = path.partition('.') -%}
  coalesce(
        {{ read('additional_properties', path) }},
        {% for column in columns if column.name | lower == name | lower -%}
        {{ read(column.quoted, inner) }},
        {% endfor -%}
        null
    ) as {{ path.replace('.', '_') }}
{%- endmacro %}

{# What a column holds at a path, or the column itself where there is no path. #}

{% macro text_in(column, path) -%}
  cast({{ value_in(column, path) }} as {{ type_string() }})
{%- endmacro %}

{% macro number_in(column, path) -%}
  cast({{ value_in(column, path) }} as {{ 'float' if target.type == 'snowflake' else 'numeric' }})
{%- endmacro %}

{% macro boolean_in(column, path) -%}
  cast({{ value_in(column, path) }} as boolean)
{%- endmacro %}

{% macro value_in(column, path) %}
  {{- adapter.dispatch('value_in')(column, path) -}}
{% endmacro %}

{% macro postgres__value_in(column, path) -%}
  {{ column }}{% if path %} #>> '{{ '{' ~ path.replace('.', ',') ~ '}' }}'{% endif %}
{%- endmacro %}

{% macro snowflake__value_in(column, path) -%}
  {{ column }}{% if path %}:{{ path }}::varchar{% endif %}
{%- endmacro %}

{# In UTC, without a zone, as the loaders write times. #}
{% macro time_in(column, path) %}
  {{- adapter.dispatch('time_in')(column, path) -}}
{% endmacro %}

{% macro postgres__time_in(column, path) -%}
  {% if path -%}
  cast({{ value_in(column, path) }} as timestamptz) at time zone 'UTC'
  {%- else -%}
  cast({{ column }} as timestamp)
  {%- endif %}
{%- endmacro %}

{% macro snowflake__time_in(column, path) -%}
  {% if path -%}
  convert_timezone('UTC', cast({{ value_in(column, path) }} as timestamp_tz))::timestamp_ntz
  {%- else -%}
  {{ column }}::timestamp_ntz
  {%- endif %}
{%- endmacro %}

{% macro json_in(column, path) %}
  {{- adapter.dispatch('json_in')(column, path) -}}
{% endmacro %}

{% macro postgres__json_in(column, path) -%}
  {{ column }}{% if path %} #> '{{ '{' ~ path.replace('.', ',') ~ '}' }}'{% endif %}
{%- endmacro %}

{% macro snowflake__json_in(column, path) -%}
  {{ column }}{% if path %}:{{ path }}{% endif %}
{%- endmacro %}
