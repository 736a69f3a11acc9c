{#- Groups with fewer than k rows; dbt fails if there is one. `rows_per_person` rows count as one person. -#}
{% test k_anonymous(model, quasi, k, rows_per_person=1) %}
SELECT {{ quasi | join(', ') }}, COUNT(*) AS people
FROM {{ model }}
GROUP BY {{ quasi | join(', ') }}
HAVING COUNT(*) < {{ k * rows_per_person }}
{% endtest %}
