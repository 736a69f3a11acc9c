"""A first job file for a table: how it is read, what its columns hold by counts, which roles suit them, and the text of it."""

from reticent.draft.drafted import NOT_LOOKED_AT as NOT_LOOKED_AT
from reticent.draft.drafted import Draft as Draft
from reticent.draft.drafted import draft as draft
