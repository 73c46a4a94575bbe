{# Names each column that is null in every row: most likely its path is wrong. #}
{% test no_empty_columns(model, may_be_empty=[]) %}
{%- set names = [] -%}
{%- for column in adapter.get_columns_in_relation(model) if column.name | lower not in may_be_empty -%}
  {%- do names.append(column.quoted) -%}
{%- endfor -%}
with filled as (
    select
        {%- for name in names %}
        count({{ name }}) as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ model }}
    having count(*) > 0
)
{% for name in names -%}
select '{{ name }}' as empty_column from filled where {{ name }} = 0
{{ 'union all' if not loop.last }}
{% endfor -%}
{% endtest %}
