{# These macros select a field of the record, given by its path, as a column of the view:
   `signal.name` becomes signal_name. `columns` are the columns of the table. The field is
   in additional_properties, or in a column of its own. additional_properties comes first,
   because a column that the catalog no longer has keeps old values. A field that is
   nowhere, and a value that is not of the type, are NULL; the test no_lost_values counts
   the latter. #}

{% macro text_field(path, columns) -%}
  {{ field('text', path, columns) }}
{%- endmacro %}

{% macro number_field(path, columns) -%}
  {{ field('number', path, columns) }}
{%- endmacro %}

{% macro boolean_field(path, columns) -%}
  {{ field('boolean', path, columns) }}
{%- endmacro %}

{% macro time_field(path, columns) -%}
  {{ field('time', path, columns) }}
{%- endmacro %}

{% macro json_field(path, columns) -%}
  {{ field('json', path, columns) }}
{%- endmacro %}

{% macro field(kind, path, columns) -%}
  {{ value_of(kind, path, columns) }} as {{ path.replace('.', '_') }}
{%- endmacro %}

{% macro value_of(kind, path, columns) -%}
  {%- set name, dot, inner = path.partition('.') -%}
  {%- set places = [] -%}
  {%- for column in columns -%}
    {%- if column.name | lower == 'additional_properties' -%}
      {%- do places.insert(0, read(kind, column.quoted, path)) -%}
    {%- elif column.name | lower == name | lower -%}
      {%- do places.append(read(kind, column.quoted, inner)) -%}
    {%- endif -%}
  {%- endfor -%}
  coalesce({{ places | join(', ') or read(kind, 'null', '') }}, null)
{%- endmacro %}

{# These macros read the value at a path inside a column, or the column itself. #}

{% macro read(kind, column, path) -%}
  {%- if kind == 'text' -%} {{ text_in(column, path) }}
  {%- elif kind == 'number' -%} {{ number_in(column, path) }}
  {%- elif kind == 'boolean' -%} {{ boolean_in(column, path) }}
  {%- elif kind == 'time' -%} {{ time_in(column, path) }}
  {%- else -%} {{ json_in(column, path) }}
  {%- endif -%}
{%- endmacro %}

{% macro text_in(column, path) -%}
  cast({{ value_in(column, path) }} as {{ type_string() }})
{%- endmacro %}

{% macro number_in(column, path) -%}
  {{ safe_cast_to(number_type(), text_in(column, path)) }}
{%- endmacro %}

{# The type of numbers, which are fractions in most APIs. `numeric` would keep only three
   digits after the point in DuckDB, and none in Snowflake. #}
{% macro number_type() %}
  {{- adapter.dispatch('number_type', 'leadintent')() -}}
{% endmacro %}

{% macro default__number_type() -%}
  {{ no_macros_for_this_adapter() }}
{%- endmacro %}

{% macro postgres__number_type() -%}
  numeric
{%- endmacro %}

{% macro snowflake__number_type() -%}
  float
{%- endmacro %}

{% macro duckdb__number_type() -%}
  double
{%- endmacro %}

{% macro boolean_in(column, path) -%}
  {{ safe_cast_to('boolean', text_in(column, path)) }}
{%- endmacro %}

{# These macros return NULL for a text that is no such value. #}
{% macro safe_cast_to(type, text) %}
  {{- adapter.dispatch('safe_cast_to', 'leadintent')(type, text) -}}
{% endmacro %}

{% macro default__safe_cast_to(type, text) -%}
  {{ no_macros_for_this_adapter() }}
{%- endmacro %}

{% macro postgres__safe_cast_to(type, text) -%}
  case when pg_input_is_valid({{ text }}, '{{ type }}') then cast({{ text }} as {{ type }}) end
{%- endmacro %}

{% macro snowflake__safe_cast_to(type, text) -%}
  try_cast({{ text }} as {{ type }})
{%- endmacro %}

{% macro duckdb__safe_cast_to(type, text) -%}
  try_cast({{ text }} as {{ type }})
{%- endmacro %}

{% macro value_in(column, path) %}
  {{- adapter.dispatch('value_in', 'leadintent')(column, path) -}}
{% endmacro %}

{% macro default__value_in(column, path) -%}
  {{ no_macros_for_this_adapter() }}
{%- endmacro %}

{% macro postgres__value_in(column, path) -%}
  {{ column }}{% if path %} #>> '{{ '{' ~ path.replace('.', ',') ~ '}' }}'{% endif %}
{%- endmacro %}

{% macro snowflake__value_in(column, path) -%}
  {{ column }}{% if path %}:{{ path }}::varchar{% endif %}
{%- endmacro %}

{% macro duckdb__value_in(column, path) -%}
  {{ column }}{% if path %} ->> '{{ '$.' ~ path }}'{% endif %}
{%- endmacro %}

{# Times are in UTC and without a zone, as the loaders write them. #}
{% macro time_in(column, path) %}
  {{- adapter.dispatch('time_in', 'leadintent')(column, path) -}}
{% endmacro %}

{% macro default__time_in(column, path) -%}
  {{ no_macros_for_this_adapter() }}
{%- endmacro %}

{% macro postgres__time_in(column, path) -%}
  {% if path -%}
  {{ safe_cast_to('timestamptz', text_in(column, path)) }} at time zone 'UTC'
  {%- else -%}
  cast({{ column }} as timestamp)
  {%- endif %}
{%- endmacro %}

{% macro snowflake__time_in(column, path) -%}
  {% if path -%}
  convert_timezone('UTC', {{ safe_cast_to('timestamp_tz', text_in(column, path)) }})::timestamp_ntz
  {%- else -%}
  {{ column }}::timestamp_ntz
  {%- endif %}
{%- endmacro %}

{% macro duckdb__time_in(column, path) -%}
  {{ postgres__time_in(column, path) }}
{%- endmacro %}

{% macro json_in(column, path) %}
  {{- adapter.dispatch('json_in', 'leadintent')(column, path) -}}
{% endmacro %}

{% macro default__json_in(column, path) -%}
  {{ no_macros_for_this_adapter() }}
{%- endmacro %}

{% macro postgres__json_in(column, path) -%}
  to_jsonb({{ column }}){% if path %} #> '{{ '{' ~ path.replace('.', ',') ~ '}' }}'{% endif %}
{%- endmacro %}

{% macro snowflake__json_in(column, path) -%}
  {{ column }}{% if path %}:{{ path }}{% endif %}
{%- endmacro %}

{% macro duckdb__json_in(column, path) -%}
  to_json({{ column }}){% if path %} -> '{{ '$.' ~ path }}'{% endif %}
{%- endmacro %}

{% macro no_macros_for_this_adapter() %}
  {{- exceptions.raise_compiler_error(
    "Add macros for " ~ target.type ~ " to macros/nested.sql, such as " ~ target.type
    ~ "__value_in: the models work on PostgreSQL, Snowflake and DuckDB"
  ) -}}
{% endmacro %}
