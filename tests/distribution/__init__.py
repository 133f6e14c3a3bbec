"""The wheel and the source archive, as whoever installs them gets them (`make dist`)."""
