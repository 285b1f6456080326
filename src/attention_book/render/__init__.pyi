from . import style as style
