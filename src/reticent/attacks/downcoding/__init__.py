"""What a release tells of people's hidden quasi-identifiers to somebody who knows that its groups could not be cut further."""
