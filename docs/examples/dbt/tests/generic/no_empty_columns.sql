{# Warns of each column that is null in every row, and logs the names of these columns.
   The path of such a column is wrong, or you leave the field out. #}
{% test no_empty_columns(model, may_be_empty=[]) %}
{{ config(severity='warn') }}
{%- set names = [] -%}
{%- for column in adapter.get_columns_in_relation(model) if column.name | lower not in may_be_empty -%}
  {%- do names.append(column.quoted) -%}
{%- endfor -%}
{%- set filled -%}
    select
        {%- for name in names %}
        count({{ name }}) as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ model }}
    having count(*) > 0
{%- endset -%}
{%- if execute and names and flags.WHICH in ('build', 'test') -%}
  {%- for row in run_query(filled) -%}
    {%- set empty = [] -%}
    {%- for name, values in zip(names, row.values()) if values == 0 -%}
      {%- do empty.append(name) -%}
    {%- endfor -%}
    {%- if empty -%}
      {%- do log(model.identifier ~ ': no row has a value in ' ~ empty | join(', '), info=true) -%}
    {%- endif -%}
  {%- endfor -%}
{%- endif -%}
with filled as (
    {{ filled }}
)
{% for name in names -%}
select '{{ name }}' as empty_column from filled where {{ name }} = 0
{{ 'union all' if not loop.last }}
{% endfor -%}
{% endtest %}
