{# Fails if no row has the time when it was loaded, and says what to do. Without it, the
   freshness of the sources and the views that go by it are wrong, without an error. #}
{% test load_times(model) %}
{%- set without_times -%}
    select count(*) as row_count
    from {{ model }}
    having count(*) > 0 and count(extracted_at) = 0
{%- endset -%}
{%- if execute and flags.WHICH in ('build', 'test') -%}
  {%- for row in run_query(without_times) -%}
    {%- do log(
      "Load the table of " ~ model.identifier ~ " again with the loader's setting "
      ~ "for metadata columns on: no row has a time in _sdc_extracted_at", info=true
    ) -%}
  {%- endfor -%}
{%- endif -%}
{{ without_times }}
{% endtest %}
