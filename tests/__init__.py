"""The tests; what several share is in modules beside this one."""
