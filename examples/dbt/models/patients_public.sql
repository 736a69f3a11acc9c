-- What may leave the house: ages in tens of years, the first two digits of the ZIP, no name.
SELECT
    CAST(FLOOR(age / 10) * 10 AS INTEGER) AS age_from,
    SUBSTR(zip, 1, 2) AS zip_area,
    diagnosis
FROM {{ source('clinic', 'patients') }}
