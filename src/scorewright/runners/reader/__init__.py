"""Author sources are read in processes of their own: jailed, bounded in time and memory, one for each source."""
