"""`pytest tests/golden --renew` writes the playthroughs anew."""


def pytest_addoption(parser):
    parser.addoption("--renew", action="store_true", help="write the golden playthroughs anew")
