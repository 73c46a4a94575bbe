{# Leads that the API no longer returns. Every lead that it still returns has been loaded
   again since the cutoff, so a lead with an older _sdc_extracted_at is gone. One of two
   variables gives the cutoff; without one, nothing is known and the view is empty. #}
{% set cutoff = var('leads_complete_since', none) -%}
{% set days = var('leads_complete_days', none) -%}
{% if not cutoff and days -%}
  {% set cutoff = (run_started_at - modules.datetime.timedelta(days=days)).strftime('%Y-%m-%d %H:%M:%S') -%}
{% endif -%}
select
    id as lead_id,
    _sdc_extracted_at as last_returned_at
from {{ source('leadintent', 'leads') }}
where {% if cutoff %}_sdc_extracted_at < cast('{{ cutoff }}' as {{ type_timestamp() }}){% else %}1 = 0{% endif %}
