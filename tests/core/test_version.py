from core.version import code_version


def test_the_code_version_names_package_and_commit():
    assert code_version().startswith("0.1.0") and len(code_version()) <= 60
