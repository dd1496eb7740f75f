"""What the tests of the page stand on: the ports of their servers."""

import socket
import unittest

from gallery import held_port


class PortTests(unittest.TestCase):
    def test_where_the_system_gives_every_port_to_sockets_one_of_those_is_held(self):
        with held_port(first=1024) as held, socket.socket() as other:
            self.assertGreater(held.getsockname()[1], 0)
            with self.assertRaises(OSError):
                other.bind(held.getsockname())
