from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.facts.home import home_hidden


def test_only_whole_paths_are_hidden():
    hide = home_hidden("/home/anna")
    assert hide("/home/anna") == "~"
    assert hide("a=/home/anna/x:/home/anna/y") == "a=~/x:~/y"
    assert (
        hide("/home/annabel /home/anna.old /mnt/home/anna x/home/anna")
        == "/home/annabel /home/anna.old /mnt/home/anna x/home/anna"
    )


def test_a_home_that_names_no_folder_hides_nothing():
    for home in ("", "/", "~"):
        assert home_hidden(home)("/home/anna ~ /") == "/home/anna ~ /"


@given(st.text(), st.text(max_size=8))
def test_hiding_twice_is_hiding_once(text, home):
    hide = home_hidden(f"/h{home}")
    assert hide(hide(text)) == hide(text)
