"""Apps: what a server's page may be, may say, and is told."""
