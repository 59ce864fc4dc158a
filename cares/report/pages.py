"""Pages of the site beside the index and the scenes.

To add one, write a function of the build and of the tools that returns a `Page`, and name it in `PAGES` of
`cares.report.site`. The site puts the page's body between its own head, navigation and foot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import jinja2
from markupsafe import Markup

from cares.report.inputs import Inputs


class Page(NamedTuple):
    """One page.

    Attributes:
        file: its name beside index.html, such as "words.html".
        title: its heading, and its name in the navigation.
        body: what stands under the heading: HTML in which every text is escaped. Headings begin at h2.
        assets: further files by path within the site, such as pictures.
    """

    file: str
    title: str
    body: Markup
    assets: Mapping[str, bytes] = {}


class Tools(NamedTuple):
    """What a page is made with.

    Attributes:
        environment: the site's templates (cares/report/templates), which escape every text.
        seed: the data set's seed, for keyed draws.
        scene_pages: ids of the scenes that have a page, scenes/<id>.html.
    """

    environment: jinja2.Environment
    seed: int
    scene_pages: frozenset[str]

    def fragment(self, template: str, **values: object) -> Markup:
        """A rendered template as the body of a page."""
        return Markup(self.environment.get_template(template).render(values))


PageMaker = Callable[[Inputs, Tools], Page]
