# %% [markdown]
# # A first afternoon with reticent
#
# This is a notebook as a script: editors that know `# %%` cells run it as one, and `python examples/notebook.py` runs it as
# it is.  In a notebook every object below shows itself as a small table.

# %%
"""A first afternoon: from a pandas table to a release, a model and a chart."""

import pandas

import reticent as rt

people: pandas.DataFrame = rt.datasets.load("census", rows=2_000, seed=1).to_pandas()
people.head()

# %% [markdown]
# A job says what each column is and what to promise.  Names will do where there is nothing to set.

# %%
job = rt.Job(
    columns={"age": "quasi-identifying", "education": "quasi-identifying", "salary_class": "sensitive"},
    promises=[rt.KAnonymity(5), rt.BetaLikeness(4)],
    release=rt.Output(undeclared="drop"),
)
job

# %% [markdown]
# Is it within reach, and by which methods?

# %%
checked = rt.check(job, frame=people, methods=["mondrian", "burel"])
checked

# %% [markdown]
# What does strictness cost?  A sweep plans every combination and publishes nothing.

# %%
swept = rt.sweep(job, frame=people, k=[2, 10, 50], beta=[2, 4])
swept

# %%
shown: object
try:
    shown = swept.chart()
except rt.RequestError as error:
    shown = error  # it says how to install what a chart needs
shown

# %% [markdown]
# Publish: without a folder the release is temporary.  It was audited from its files before it was kept.

# %%
release = rt.publish(job, frame=people)
release

# %%
release.audited

# %%
found = rt.audit(release, source=people)
assert found.kept
found

# %% [markdown]
# What an adversary reaches who knows everybody's age and education, beside always guessing the commonest value:

# %%
attacked = rt.attack(release, people, "naive-bayes")
attacked

# %% [markdown]
# And back to pandas, ranges as two numbers each.

# %%
table = release.to_pandas(bounds=True)
table[["age", "age_lower", "age_upper", "salary_class"]].head()

# %%
if __name__ == "__main__":
    print(release)
    print(found)
    print(table.head())
