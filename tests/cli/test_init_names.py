"""Which columns `init` takes for identifiers by their names: those of persons, and not those of drugs, hospitals and towns."""

from __future__ import annotations

import json

import pytest

from reticent.job.column_guesses import is_identifier_name, is_person_number
from tests.support.command_line import write_csv

PERSONS = {
    "names": "name Name NAME first_name firstName FIRSTNAME last_name lname fname middle_name surname forename maiden_name maiden "
    "full_name legal_name preferred_name given_name family_name nickname user_name username patient_name PatientName PATIENT_NM "
    "mother_name mothers_maiden_name father_name spouse_name child_name next_of_kin_name emergency_contact_name contact_name "
    "doctor_name physician_name provider_name nurse_name teacher_name student_name employee_name manager_name ManagerName "
    "respondent_name interviewer_name tenant_name owner_name author_name name_first name_last name_of_patient patient.name "
    "first_name_child hospital_patient_name company_contact_name Vorname Nachname patient_initials",
    "numbers": "id ID patient_id patientId PatientID PATIENTID patient_nbr patient_no PatientNumber patient_key mrn MRN ssn SSN ssn_last4 "
    "nhs_number nin national_id tax_id passport passport_no license_number drivers_license encounter_id visit_id visit_no case_id "
    "case_number record_no admission_id episode_id hadm_id subject_id stay_id study_id participant_id respondent_id household_id hhid "
    "householdid person personid pid employee_id EmployeeNumber staff_no student_id member_id client_id customer_id account_number "
    "account iban card_number policy_number claim_number insurance_no uuid guid id_patient id_1 device_serial vin license_plate",
    "how to reach somebody": "email e_mail email_address emailAddress emailaddress work_email phone phone_number phone2 home_phone "
    "homephone mobile mobile_phone tel telephone fax address address_line_1 home_address mailing_address street street_name "
    "street_address house_number ip ip_address url hostname",
}
OTHERS = {
    "hospital data": "drug_name drugName DRUGNAME drug_names medication_name med_name generic_name brand_name product_name vaccine_name "
    "ingredient_name hospital_name HospitalName HOSPITAL_NM hospital_full_name name_of_hospital ward_name unit_name department_name "
    "facility_name clinic_name pharmacy_name lab_name test_name procedure_name diagnosis_name disease_name condition_name "
    "treatment_name specialty_name allergy_name organism_name device_name insurer_name payer_name plan_name patient_age patient_sex "
    "patient_zip patient_weight person_weight encounter_type visit_date admission_type number_of_visits num_medications room_number",
    "census": "city_name cityname county_name state_name region_name district_name country_name municipality_name province_name "
    "parish_name borough_name neighborhood_name station_name language_name religion_name ethnicity_name tribe_name household_size "
    "household_income household_type person_income number_of_children address_city address_zip street_type",
    "surveys": "event_name survey_name question_name item_name variable_name column_name file_name filename category_name group_name "
    "brand_preference email_opt_in phone_type account_type license_type name_length name_changed id_type url_count mobile_operator "
    "product_code party team_name sport_name app_name month_name day_name color_name",
    "schools and work": "school_name SchoolName university_name college_name course_name class_name degree_name major_name team "
    "company_name employer_name organization_name agency_name branch_name job_name position_name role_name project_name "
    "industry_name bank_name store_name vehicle_name model_name",
    "words that only look alike": "covid COVID amount_paid paid humid valid said renamed enamel accounted phonetics emailed patience "
    "personality addressed age sex weight",
}


def _each(listed: dict[str, str]) -> list[str]:
    return [name for names in listed.values() for name in names.split()]


@pytest.mark.parametrize("name", _each(PERSONS))
def test_a_name_that_is_an_identifier_s_is_taken_for_one(name):
    assert is_identifier_name(name)


@pytest.mark.parametrize("name", [*_each(OTHERS), "", "_", "1"])
def test_a_name_that_is_no_identifier_s_is_not(name):
    assert not is_identifier_name(name)


def test_rows_are_counted_by_numbers_of_persons_and_not_by_names_or_addresses():
    able = ["patient_id", "mrn", "ssn", "pid", "PersonId", "patient", "patient_nbr", "passport_no"]
    assert all(is_person_number(name) for name in able)
    assert not any(is_person_number(name) for name in ("patient_name", "email", "address", "household_size", "covid"))


def test_names_of_things_are_drafted_by_what_they_say(run, place):
    names = ("patient_name", "drug_name", "hospital_name", "event_name", "patient_age")
    rows = [[f"{i % 9}"] * len(names) for i in range(90)]
    write_csv(place / "names.csv", rows, head=",".join(names))
    found = {one["name"]: one["role"] for one in json.loads(run("init", "names.csv", "--json").out)["columns"]}
    assert found == {
        "patient_name": "identifying",
        "drug_name": "sensitive",
        "hospital_name": "quasi-identifying",
        "event_name": "quasi-identifying",
        "patient_age": "quasi-identifying",
    }


def test_a_column_that_names_a_thing_of_its_own_in_nearly_every_row_is_identifying_all_the_same(run, place):
    write_csv(place / "names.csv", [[f"company {i}", f"{i % 9}"] for i in range(90)], head="company_name,age")
    found = {one["name"]: one["role"] for one in json.loads(run("init", "names.csv", "--json").out)["columns"]}
    assert found == {"company_name": "identifying", "age": "quasi-identifying"}
