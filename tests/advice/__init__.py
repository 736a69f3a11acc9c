"""What an error advises is followed: settings, options and names are read from its words and tried."""
