{# These macros select a field of the record, given by its path, as a column of the view:
   `signal.name` becomes signal_name. `columns` are the columns of the table. The field is
   in additional_properties, or in a column of its own. additional_properties comes first,
   because a column that the catalog no longer has keeps old values. #}

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

{# These macros read the value at a path inside a column, or the column itself. #}

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

{# Times are in UTC and without a zone, as the loaders write them. #}
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
